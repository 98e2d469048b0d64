import { readdir } from 'node:fs/promises'
import type { NodeAccess } from '@muster/core/credentials/access'
import { RUN_FROM_STDIN } from '../../ssh/account-script.ts'
import { isNodeAlias } from '../inventory/plan-run.ts'
import { socketPaths } from '../run-directory/run-paths.ts'
import { execOverControlMaster, type MastersOfRun, mapLimit } from './control-masters.ts'

/**
 * Kills a run's processes on a node. Closing the connection is not enough: without a terminal, sshd leaves the commands of
 * a closed session running. All sessions of the run share one dedicated sshd process, so all its descendants except
 * this script belong to the run. What a task detached, such as a service, has another parent and stays.
 * Processes of another user are killed with the node's become credential: a task may become another user though its run does not.
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

/** A node's alias and how to become another user there. */
export type RemoteHost = { alias: string; become: NodeAccess['become'] }

/** Best effort, on nodes with a task in progress. Needs the control masters to be open. */
export async function killRemoteProcesses(masters: MastersOfRun, nodes: RemoteHost[]): Promise<void> {
  await mapLimit(nodes, ({ alias, become }) =>
    execOverControlMaster(
      masters,
      alias,
      RUN_FROM_STDIN,
      `${SCRIPT.trimStart()}${become.method}\n${become.user}\n${become.password ?? ''}\n`,
    ),
  )
}

/** The same on every node that a lost run still has a connection to. Its passwords were lost with the worker. */
export async function killRemoteProcessesOfLostRun(masters: MastersOfRun): Promise<void> {
  const aliases = await readdir(socketPaths(masters.sshDir).masters).catch(() => [])
  const become = { method: 'sudo', user: 'root', password: null } as const
  await killRemoteProcesses(
    masters,
    aliases.filter(isNodeAlias).map((alias) => ({ alias, become })),
  )
}
