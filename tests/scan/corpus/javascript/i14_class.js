class Shape {
  constructor(name) { this.name = name; }
  get area() { return 0; }
}
class Square extends Shape {
  constructor(a) { super("square"); this.a = a; }
  get area() { return this.a ** 2; }
}
console.log(new Square(3).area);
