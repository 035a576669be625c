class Model {
  eval(x) { return x * 2; }
  exec(x) { return this.eval(x); }
  spawn() { return new Model(); }
}
const m = new Model();
m.exec(1);
m.spawn().eval(3);
const re = /require\('child_process'\)/;
console.log(re.exec("eval('x')"), m['eval'](2));
const text = `eval(${m.eval(2)})`; // new Function('x')
console.log(text);
