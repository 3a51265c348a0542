# SPDX-License-Identifier: BSD-2-Clause
#
# The book: one HTML page and a PDF in build/book. What it says is checked first.

$(call commands,,book book-students pictures)

## learn	book	the book: build/book/faultline.html and .pdf (Asciidoctor)
## teach	book-students	the book without the code that the labs ask for
book book-students:
	@tools/doctor --install book
	@tools/doctor --have asciidoctor asciidoctor-pdf dot iverilog
	+@$(MAKE) --no-print-directory $(FAULTLINE)
	@tools/book/check
	@tools/book/make html pdf $(if $(filter book-students,$@),--students)

## change	pictures	the pictures of the book, from a run (Graphviz)
pictures: $(FAULTLINE)
	$(Q)tests/cmd/pictures.sh --write
