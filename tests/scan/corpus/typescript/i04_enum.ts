export enum Call { Exec = "exec", Spawn = "spawn", Eval = "eval" }
export const names: Record<Call, string> = { [Call.Exec]: "a", [Call.Spawn]: "b", [Call.Eval]: "c" };
