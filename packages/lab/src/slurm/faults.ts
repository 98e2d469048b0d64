import { randomBytes } from 'node:crypto'
import type { FaultName } from '../types.ts'

export type SlurmFaultName = Extract<
  FaultName,
  'controller-stop' | 'controller-freeze' | 'wrong-munge-key' | 'clock-skew' | 'broken-slurm-conf'
>

/** A fault as shell scripts that run in the node. Both are idempotent. `args` are passed to `inject` as $1, $2… */
interface ScriptFault {
  inject: string
  revert: string
  args?(options: { seconds?: number }): string[]
}

const pidOf = (unit: string) => `pid=$(cat /run/systemd/lab-services/${unit}.service)`
/** Restarts munged and waits until it answers. */
const restartMunge = 'systemctl restart munge; until munge -n >/dev/null 2>&1; do sleep 0.05; done'

export const slurmFaults: Record<SlurmFaultName, ScriptFault> = {
  'controller-stop': { inject: 'systemctl stop slurmctld', revert: 'systemctl start slurmctld' },
  'controller-freeze': { inject: `${pidOf('slurmctld')}; kill -STOP "$pid"`, revert: `${pidOf('slurmctld')}; kill -CONT "$pid"` },
  'wrong-munge-key': {
    inject: `[ -e /etc/munge/original.key ] || cp -p /etc/munge/munge.key /etc/munge/original.key
      printf %s "$1" > /etc/munge/munge.key; ${restartMunge}`,
    revert: `[ ! -e /etc/munge/original.key ] || { mv /etc/munge/original.key /etc/munge/munge.key; ${restartMunge}; }`,
    args: () => [randomBytes(64).toString('hex')],
  },
  'clock-skew': {
    inject: `echo "$1" > /usr/lib/lab/clock
      printf '#!/bin/sh\\nexec faketime -f %s /usr/bin/date "$@"\\n' "$1" > /usr/local/bin/date; chmod 755 /usr/local/bin/date
      ${restartMunge}`,
    revert: `rm -f /usr/lib/lab/clock /usr/local/bin/date; ${restartMunge}`,
    args: ({ seconds = 600 }) => [`${seconds < 0 ? '' : '+'}${Math.trunc(Number(seconds))}`],
  },
  'broken-slurm-conf': {
    inject:
      '[ -e /etc/slurm/slurm.conf.original ] || cp -p /etc/slurm/slurm.conf /etc/slurm/slurm.conf.original; echo "NoSuchKey=1" >> /etc/slurm/slurm.conf',
    revert: '[ ! -e /etc/slurm/slurm.conf.original ] || mv /etc/slurm/slurm.conf.original /etc/slurm/slurm.conf',
  },
}
