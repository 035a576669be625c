class Model {
  eval(): this { return this; }
  exec<T>(x: T): T { return x; }
}
new Model().eval().exec<number>(3);
