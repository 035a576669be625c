const names = ['eval', 'child_process.exec'];
const table = { eval: names.length, exec: 'child_process.exec' };
console.log('child_process.exec', table.eval, names.indexOf('eval'));
class Shape { clone() { return new this.constructor('circle'); } }
new Shape().clone();
window.addEventListener('load', () => self.close());
