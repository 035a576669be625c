\u0065val("1"); // FIND: javascript.dynamic-code scan.disguised
const r = \u{72}equire("child_" + "process");
r.ex\u0065c("id"); // FIND: javascript.process
