# SPDX-License-Identifier: BSD-2-Clause
#
# What fits on a page is not cut in two: listings stay whole in the PDF, and so do tables;
# of longer ones the title stays with the first row. And no heading ends a page,
# nor the sentence before a listing.
# asciidoctor-pdf -r tools/book/whole.rb
#
# Tables have no option for that here: 2.3.4 takes the option away when it tries a table out
# (its copy shares the attributes), and a title whose margin does not fit stays behind alone.
LINES = 36
ROWS = 14
SENTENCE = 200	# characters; a longer paragraph is more than the listing's beginning
LINE = 14	# points
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

  def convert_paragraph(node, opts = nil)
    after = node.next_sibling
    if after && after.context == :listing && after.option?('unbreakable') &&
       !at_page_top? && node.source.length <= SENTENCE && cursor < height_of(node, after)
      advance_page
    end
    super
  end

  def convert_table(node)
    if node.rows.body.size <= ROWS
      advance_page if !at_page_top? && cursor < height_of(node)
    elsif node.title? && !at_page_top? && cursor < BEGINNING
      advance_page
    end
    super
  end

  # What stands alone all the same ends the build: tools/book/make takes warnings for errors.
  def ink_general_heading(node, title, opts = {})
    page = page_number
    super
    return if scratch? || (page == page_number && cursor >= LINE)

    log :warn, "heading alone at the end of page #{page}: #{title}"
  end

  def ink_table_caption(node, *)
    super
    return if scratch? || cursor >= 3 * LINE

    log :warn, "title alone at the end of page #{page_number}: #{node.title}"
  end

  # Points that these take, one after the other.
  def height_of(*nodes)
    tried = dry_run keep_together: true, single_page: true do
      push_scratch nodes[0].document
      nodes.each { |node| convert node }
    ensure
      pop_scratch nodes[0].document
    end
    tried.single_page_height
  end
end

# Before 2 these calls are others; pages then end where they like.
Asciidoctor::PDF::Converter.prepend Whole if Asciidoctor::PDF::VERSION.to_i >= 2
