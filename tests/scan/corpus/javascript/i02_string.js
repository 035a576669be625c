const help = "never call eval(x) or require('child_process')";
console.log(help, 'new Function("a")');
