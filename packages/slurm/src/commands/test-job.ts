import { checkedWord } from './words.ts'

/** A job of a minute at most that succeeds when the node can run jobs. It is canceled when it does not start within 30 s. */
export const testJob = (node: string, partition: string | null, reservation: string): string[] => [
  'srun',
  `--nodelist=${checkedWord('node', node)}`,
  ...(partition === null ? [] : [`--partition=${checkedWord('partition', partition)}`]),
  `--reservation=${checkedWord('reservation', reservation)}`,
  '--nodes=1',
  '--ntasks=1',
  '--time=1',
  '--immediate=30',
  '--job-name=muster-test',
  '--chdir=/tmp',
  '--quiet',
  'true',
]
