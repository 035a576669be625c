const found = /a(b+)/.exec("abbb");
const pattern = new RegExp("x+");
console.log(found, pattern.exec("xx"));
