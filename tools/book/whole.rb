# SPDX-License-Identifier: BSD-2-Clause
#
# What fits on a page is not cut in two: listings stay whole in the PDF, and so do tables
# with a title; of longer ones the title stays with the first row. And no heading ends a page.
# asciidoctor-pdf -r tools/book/whole.rb
#
# Tables have no option for that here: 2.3.4 takes the option away when it tries a table out
# (its copy shares the attributes), and a title whose margin does not fit stays behind alone.
LINES = 36
ROWS = 14
HEADING = 50	# points: a heading, its margin, a line of text
BEGINNING = 100	# a title, the row of headings, a row of two lines

Asciidoctor::Extensions.register do
  tree_processor do
    process do |doc|
      doc.find_by(context: :listing) do |b|
        b.set_option 'unbreakable' if b.lines.size <= LINES
      end
      nil
    end
  end
end

# What follows is asked of a page that is not empty; on the next one it begins at the top.
module Whole
  def arrange_heading(node, title, opts)
    return advance_page if cursor < HEADING

    super
  end

  def convert_table(node)
    advance_page if node.title? && !at_page_top? && cursor < height_wanted(node)
    super
  end

  # Points that a table with a title wants on the page where it begins.
  def height_wanted(node)
    return BEGINNING if node.rows.body.size > ROWS

    tried = dry_run keep_together: true, single_page: true do
      push_scratch node.document
      convert_table node
    ensure
      pop_scratch node.document
    end
    tried.single_page_height
  end
end

Asciidoctor::PDF::Converter.prepend Whole
