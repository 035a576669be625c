// eval(x), exec("id") and new Function("y") stand in a comment
/** Uses child_process.exec in no way. */
export const nothing: null = null;
