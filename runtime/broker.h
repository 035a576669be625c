/* The egress broker's whole life, as the supervisor starts it: see docs/egress.md. */
#ifndef PINFOLD_RUNTIME_BROKER_H
#define PINFOLD_RUNTIME_BROKER_H

/* With its two ends under EGRESS_SUPERVISOR_FD and EGRESS_SANDBOX_FD. The exit code. */
int broker_main(void);

#endif
