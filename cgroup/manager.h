/* Where systemd listens, and how pinfold-scope is told and tells; for scope.c and pinfold-scope. */
#ifndef PINFOLD_CGROUP_MANAGER_H
#define PINFOLD_CGROUP_MANAGER_H

/* The bus, and the manager's own socket, which is there without a bus too. A user's runtime
 * directory is where logind puts it; what the environment says of it is not asked. */
#define SYSTEM_BUS     "/run/dbus/system_bus_socket"
#define SYSTEM_PRIVATE "/run/systemd/private"
#define USER_BUS       "/run/user/%u/bus"
#define USER_PRIVATE   "/run/user/%u/systemd/private"

/* pinfold-scope user|system NAME.scope PID writes one line: this and the cgroup's path, and then
 * stays in the scope until the end of its standard input; or a reason. */
#define SCOPE_OK "cgroup "

#endif
