// eval("x"), require("child_process").exec("rm") and new Function("y") stand here in a comment
/* fs.readFileSync("/etc/passwd") */
console.log("nothing");
