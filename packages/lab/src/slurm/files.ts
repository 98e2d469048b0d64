import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { type FileSpec, writeFiles } from '../files.ts'
import type { NodeState } from '../registry.ts'
import { configFiles, slurmdbdConf } from './config.ts'
import { SHARED_STATE } from './mounts.ts'
import type { SlurmState } from './plan.ts'
import { PROGRAMS_IN_NODE, programLinks } from './programs.ts'

/** Service accounts; their ids are those of Debian's package, or free. */
export const slurmUsers = { slurm: 64030, munge: 64031, mysql: 64032 } as const

/** Accounts in the format of /etc/passwd, and their groups. */
export const slurmAccounts = Object.entries(slurmUsers).map(([name, id]) => ({
  name,
  passwd: `${name}:x:${id}:${id}::/nonexistent:/usr/sbin/nologin`,
  group: `${name}:x:${id}:`,
}))

/** Fills the layer that all nodes of the lab in `root` share: programs, configuration and the munge key. */
export function writeSlurmBase(root: string, state: SlurmState, nodes: NodeState[]): void {
  const base = path.join(root, 'base')
  const config = Object.entries(configFiles(state, nodes)).map(([name, content]) => ({ path: `/etc/slurm/${name}`, content }))
  writeFiles(base, [
    ...programLinks(),
    ...config,
    { path: '/etc/munge/munge.key', content: randomBytes(64).toString('hex'), mode: 0o400, uid: slurmUsers.munge },
  ])
  const folders = [
    ['etc/munge', 'munge', 0o700],
    ['var/lib/munge', 'munge', 0o711],
    ['var/log/munge', 'munge', 0o700],
    ['var/log/slurm', 'slurm', 0o755],
    ['var/spool/slurmctld', 'slurm', 0o755],
    ['var/lib/mysql', 'mysql', 0o700],
  ] as const
  for (const [name, owner, mode] of folders) {
    const folder = path.join(base, name)
    mkdirSync(folder, { recursive: true })
    chmodSync(folder, mode)
    chownSync(folder, slurmUsers[owner], slurmUsers[owner])
  }
  for (const name of ['var/spool/slurmd', PROGRAMS_IN_NODE, ...(state.prefix ? [state.prefix] : [])])
    mkdirSync(path.join(base, name), { recursive: true })
  const shared = path.join(root, path.basename(SHARED_STATE))
  mkdirSync(shared, { mode: 0o755 })
  chownSync(shared, slurmUsers.slurm, slurmUsers.slurm)
}

/** The services of one machine, and files that only it has. */
export function slurmNodeFiles(state: SlurmState, name: string): FileSpec[] {
  const sbin = state.prefix ? `${state.prefix}/sbin` : '/usr/sbin'
  const bin = state.prefix ? `${state.prefix}/bin` : '/usr/bin'
  const isPrimary = name === state.controllers[0]
  const isController = state.controllers.includes(name)
  const isMember = isController || state.compute.includes(name)
  if (!isMember) return []
  const database = state.accounting && isPrimary
  return [
    ...service('munge', munge),
    ...(database
      ? [
          ...service('mariadb', mariadb),
          ...service('slurmdbd', `${slurmdbd}exec ${sbin}/slurmdbd -D\n`),
          { path: '/etc/slurm/slurmdbd.conf', content: slurmdbdConf(name), mode: 0o600, uid: slurmUsers.slurm },
        ]
      : []),
    ...(isController
      ? service('slurmctld', `${state.accounting ? waitForDatabase(bin, state) : ''}exec ${sbin}/slurmctld -D\n`)
      : []),
    ...(state.compute.includes(name) ? service('slurmd', `${waitForController(state)}exec ${sbin}/slurmd -D\n`) : []),
  ]
}

const UNITS = '/etc/systemd/system'

/** An enabled unit that runs a script. */
function service(name: string, script: string): FileSpec[] {
  const program = `/usr/lib/lab/start-${name}`
  return [
    { path: program, content: `#!/bin/bash\nset -eu\n${script}`, mode: 0o755 },
    { path: `${UNITS}/${name}.service`, content: `[Service]\nType=simple\nExecStart=${program}\n` },
    { path: `${UNITS}/multi-user.target.wants/${name}.service`, content: '', link: `${UNITS}/${name}.service` },
  ]
}

/** /run is new at each boot. The file `clock` holds a shift of the clock in seconds. */
const munge = `install -d -o munge -g munge -m 755 /run/munge
shift=
if [ -s /usr/lib/lab/clock ]; then
  shift="env LD_PRELOAD=$(echo /usr/lib/*/faketime/libfaketimeMT.so.1) FAKETIME=$(cat /usr/lib/lab/clock)"
fi
exec setpriv --reuid=munge --regid=munge --clear-groups $shift /usr/sbin/munged --foreground --num-threads=1
`

const mariadb = `install -d -o mysql -g mysql /run/mysqld
[ -d /var/lib/mysql/mysql ] || mariadb-install-db --no-defaults --user=mysql --datadir=/var/lib/mysql --skip-test-db \\
  --auth-root-authentication-method=socket
exec mariadbd --no-defaults --user=mysql --datadir=/var/lib/mysql --socket=/run/mysqld/mysqld.sock --skip-networking \\
  --pid-file=/run/mysqld/mysqld.pid --innodb-buffer-pool-size=64M --innodb-flush-log-at-trx-commit=0
`

/** A slurmd that finds no controller registers seconds later than necessary. */
const waitForController = (state: SlurmState): string => `for try in {1..50}; do
  timeout 1 bash -c ': </dev/tcp/${state.controllers[0]}/6817' 2>/dev/null && break
  sleep 0.05
done
`

/** The account authenticates by its user id, so that no password is needed. */
const slurmdbd = `until mariadb --no-defaults --socket=/run/mysqld/mysqld.sock -e "
  create user if not exists slurm@localhost identified via unix_socket; grant all on slurm_acct_db.* to slurm@localhost"
do sleep 0.1; done 2>/dev/null
`

function waitForDatabase(bin: string, state: SlurmState): string {
  return `until (: >/dev/tcp/${state.controllers[0]}/6819) 2>/dev/null; do sleep 0.1; done
until ${bin}/sacctmgr --noheader --parsable2 list cluster | grep -q .; do
  ${bin}/sacctmgr -i add cluster ${state.config.ClusterName ?? 'lab'} || sleep 0.2
done
`
}
