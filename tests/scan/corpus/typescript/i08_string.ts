export const help: string = `call eval(x) never; require("child_process") neither`;
export const link = "https://docs.example.org/eval";
