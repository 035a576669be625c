; id: python.encoding
; severity: error
; message: says that it is in another encoding than UTF-8
; sandbox: The interpreter reads other text than stands here: utf-7, rot13 and others hide code.
((module . (comment) @found)
 (#match? @found "coding[:=]") (#not-match? @found "coding[:=] *([uU][tT][fF][-_]?8|[aA][sS][cC][iI][iI]|latin-?1|iso-8859-15?|cp1252)"))
((module . (comment) @first . (comment) @found)
 (#not-match? @first "coding[:=]") (#match? @found "coding[:=]") (#not-match? @found "coding[:=] *([uU][tT][fF][-_]?8|[aA][sS][cC][iI][iI]|latin-?1|iso-8859-15?|cp1252)"))
