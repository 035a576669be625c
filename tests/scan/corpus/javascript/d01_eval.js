function calculate(text) {
  return eval(text); // FIND: javascript.dynamic-code
}
