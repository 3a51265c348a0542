# SPDX-License-Identifier: BSD-2-Clause
#
# What fits on a page is not cut in two: listings and tables stay whole in the PDF, and
# a table's title stays with it. asciidoctor-pdf -r tools/book/whole.rb
LINES = 36
ROWS = 14

Asciidoctor::Extensions.register do
  tree_processor do
    process do |doc|
      doc.find_by(context: :listing) do |b|
        b.set_option 'unbreakable' if b.lines.size <= LINES
      end
      doc.find_by(context: :table) do |b|
        b.set_option 'unbreakable' if b.rows.body.size <= ROWS
      end
      nil
    end
  end
end
