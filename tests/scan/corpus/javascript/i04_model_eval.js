class Model {
  eval() { return this; }
  exec(x) { return x; }
}
const model = new Model();
model.eval().exec(3);
