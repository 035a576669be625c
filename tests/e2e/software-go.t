#!/usr/bin/python3
"""Go builds and runs: goroutines on threads, a server on loopback, a child process, timers."""
from software import BUILDS, runs, run_in, tools
from tap import done

PROGRAM = r"""
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"os/user"
	"runtime"
	"sync"
	"time"
)

func main() {
	var wg sync.WaitGroup
	var mu sync.Mutex
	sum := 0
	for i := 0; i < 1000; i++ {
		wg.Add(1)
		go func(n int) { defer wg.Done(); runtime.Gosched(); mu.Lock(); sum += n; mu.Unlock() }(i)
	}
	wg.Wait()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil { panic(err) }
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "served") }))
	r, err := http.Get("http://" + l.Addr().String())
	if err != nil { panic(err) }
	body, _ := io.ReadAll(r.Body)
	out, err := exec.Command("/bin/echo", "child").Output()
	if err != nil { panic(err) }
	<-time.After(10 * time.Millisecond)
	u, _ := user.Current()
	fmt.Printf("%d %s %s%s %v\n", sum, body, out, u.Username, runtime.NumCPU() <= 2)
}
"""
image = tools("go", "tar")
script = "export GOCACHE=/scratch/cache GOFLAGS=-mod=mod GO111MODULE=off GOTOOLCHAIN=local; go build -o program program.go && exec ./program"
runs("go", run_in(image, script, *BUILDS, files={"program.go": PROGRAM}), f"{sum(range(1000))} served child\nuser True\n".replace("True", "true"))
done()
