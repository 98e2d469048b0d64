import { readdir } from 'node:fs/promises'
import type { NodeAccess } from '@muster/core/credentials/access'
import { RUN_FROM_STDIN } from '../ssh/account-script.ts'
import { execOverMaster, inTurns } from './masters.ts'
import { isNode } from './plan-run.ts'
import { socketPaths } from './run-files.ts'

/**
 * Ends what a run still runs on a node. Closing the connection is not enough: without a terminal, sshd leaves the commands of
 * a closed session running. All sessions of the run hang on one sshd process, which serves nobody else; so whatever descends
 * from it, except this script, is the run's. What a task detached (services, for example) has another parent and stays.
 * Processes of another user are ended by way of the node's own become credential: a task may become one though its run does not.
 */
const SCRIPT = `
parent() { IFS= read -r stat < "/proc/$1/stat" || return 1; stat=\${stat##*) }; set -- $stat; ppid=$2; }
name() { IFS= read -r comm < "/proc/$1/comm" || comm=; }
IFS= read -r become
IFS= read -r user
IFS= read -r password
me=$$
pid=$me
path=" $me "
server=
for i in 1 2 3 4 5 6; do
  parent "$pid" 2>/dev/null || break
  pid=$ppid
  [ "$pid" -gt 1 ] 2>/dev/null || break
  path="$path$pid "
  name "$pid" 2>/dev/null
  case $comm in sshd*|dropbear*) server=$pid; break;; esac
done
[ -n "$server" ] || exit 1
found=
heads="$server"
while [ -n "$heads" ]; do
  next=
  for dir in /proc/[0-9]*; do
    pid=\${dir#/proc/}
    parent "$pid" 2>/dev/null || continue
    case " $heads " in *" $ppid "*) case $path in *" $pid "*) ;; *) next="$next $pid"; found="$found $pid";; esac;; esac
  done
  heads=$next
done
[ -n "$found" ] || exit 0
end_all='for s in TERM KILL; do kill -$s "$@" 2>/dev/null; n=0; while kill -0 "$@" 2>/dev/null && [ $n -lt 10 ]; do sleep 0.1 2>/dev/null || sleep 1; n=$((n+1)); done; done; :'
if [ "$become" = sudo ] && [ "$(id -u)" != 0 ]; then
  if [ -n "$password" ]; then printf "%s\\n" "$password" | sudo -S -p "" -- sh -c "$end_all" sh $found >/dev/null 2>&1 && exit 0
  else sudo -n -- sh -c "$end_all" sh $found >/dev/null 2>&1 && exit 0; fi
elif [ "$become" = su ] && [ "$(id -un)" != "$user" ]; then
  printf "%s\\n" "$password" | LC_ALL=C su "$user" -c "sh -c '$end_all' sh $found" >/dev/null 2>&1
fi
sh -c "$end_all" sh $found
END
`

/** A node by its alias, and how one becomes another user there. */
export type RemoteEnd = { alias: string; become: NodeAccess['become'] }

/** Best effort, on nodes that were in the middle of a task; needs the connections still open. */
export async function endRemoteProcesses(sshDir: string, nodes: RemoteEnd[]): Promise<void> {
  await inTurns(nodes, ({ alias, become }) =>
    execOverMaster(
      sshDir,
      alias,
      RUN_FROM_STDIN,
      `${SCRIPT.trimStart()}${become.method}\n${become.user}\n${become.password ?? ''}\n`,
    ),
  )
}

/** The same on every node that a dead worker's run still has a connection to; its passwords died with it. */
export async function endRemoteProcessesOfDeadRun(sshDir: string): Promise<void> {
  const aliases = await readdir(socketPaths(sshDir).masters).catch(() => [])
  const become = { method: 'sudo', user: 'root', password: null } as const
  await endRemoteProcesses(
    sshDir,
    aliases.filter(isNode).map((alias) => ({ alias, become })),
  )
}
