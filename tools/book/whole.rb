# SPDX-License-Identifier: BSD-2-Clause
#
# What fits on a page is not cut in two: listings stay whole in the PDF, and so do tables
# with a title; of longer ones the title stays with the first row.
# asciidoctor-pdf -r tools/book/whole.rb
LINES = 36
ROWS = 14

Asciidoctor::Extensions.register do
  tree_processor do
    process do |doc|
      doc.find_by(context: :listing) do |b|
        b.set_option 'unbreakable' if b.lines.size <= LINES
      end
      doc.find_by(context: :table) do |b|
        next unless b.title?

        b.set_option b.rows.body.size <= ROWS ? 'unbreakable' : 'breakable'
      end
      nil
    end
  end
end
