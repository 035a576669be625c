setTimeout("alert(1)", 100); // FIND: javascript.dynamic-code
setInterval(`tick()`, 10); // FIND: javascript.dynamic-code
