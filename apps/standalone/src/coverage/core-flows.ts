/** A test by its file and title. */
export type FlowTest = { file: string; title: string }

const CLI = 'apps/cli/src/main.test.ts'
const RUNS = 'apps/worker/src/ansible/execute-run.lab.test.ts'
const NODES = 'apps/worker/src/handlers/handlers.test.ts'
const SLURM_ACTIONS = 'apps/worker/src/handlers/slurm-action.lab.test.ts'
const SLURM_CONFIGURE = 'apps/worker/src/handlers/slurm-configure.long.test.ts'
const SLURM_OPERATIONS = 'apps/worker/src/slurm/operations/managed-cluster.lab.long.test.ts'
const SLURM_REFRESH = 'apps/worker/src/handlers/slurm-refresh.lab.test.ts'

/** What a user must always be able to do, and the tests that do it with the real product, hosts and clusters of the lab. */
export const CORE_FLOWS: Record<string, FlowTest[]> = {
  'sign in': [{ file: CLI, title: 'signs in with the one-time link once' }],
  'add nodes, approve host keys, connect': [
    { file: CLI, title: 'adds nodes: credential, dry run, add, test, approve, test' },
    { file: NODES, title: 'offers host keys, pins approved keys, makes nodes READY and finds every accelerator' },
  ],
  'refuse a changed host key': [
    { file: RUNS, title: 'rejects a changed host key and requests a connection test, which raises the alarm' },
  ],
  'discover hardware': [
    { file: NODES, title: 'offers host keys, pins approved keys, makes nodes READY and finds every accelerator' },
  ],
  'layer variables': [{ file: CLI, title: 'sets variables in layers, explains a value and restores a version' }],
  'run a template and read its log': [{ file: CLI, title: 'runs a template and prints its log again' }],
  'follow a run across a lost connection': [
    { file: CLI, title: 'resumes following after a lost connection, stops at Ctrl-C, and reports a canceled run' },
  ],
  'cancel a run without leftovers': [
    { file: RUNS, title: 'a cancel during a task leaves no process on the worker or the nodes' },
  ],
  'survive a killed worker': [
    { file: RUNS, title: 'after a worker is killed during a task, the next one kills its processes on the worker and the nodes' },
  ],
  'retry failed hosts': [{ file: CLI, title: 'retries interrupted hosts and shows the result of each task' }],
  'rotate a credential': [
    {
      file: 'apps/worker/src/handlers/credential-rotation.test.ts',
      title: 'of a key installs a new one on every node and removes the previous one',
    },
  ],
  'back up and restore': [
    {
      file: 'apps/standalone/src/backup/backup.test.ts',
      title: 'a backup during writes restores into an empty directory, on which the API starts',
    },
  ],
  'test a Slurm controller': [
    { file: 'apps/worker/src/handlers/slurm-cluster-test.lab.test.ts', title: 'reports each command, and what the cluster has' },
  ],
  'adopt a Slurm cluster': [
    { file: SLURM_REFRESH, title: 'stores nodes, partitions, jobs, settings and the scheduler' },
    { file: SLURM_REFRESH, title: 'writes no file and no setting of a cluster that it reuses' },
  ],
  'drain and resume a Slurm node': [
    { file: SLURM_ACTIONS, title: 'drains a node with a running job, which survives, and resumes it' },
  ],
  'create a managed Slurm cluster': [
    { file: SLURM_OPERATIONS, title: 'is created from READY nodes while workers are killed in every step' },
  ],
  'add nodes to a Slurm cluster': [
    { file: SLURM_OPERATIONS, title: 'grows while workers are killed in and at the end of every step, and not beyond its limit' },
  ],
  'remove nodes from a Slurm cluster': [
    {
      file: SLURM_OPERATIONS,
      title: 'shrinks by exactly the named nodes while workers are killed in and at the end of every step',
    },
  ],
  'roll out and roll back slurm.conf': [{ file: SLURM_CONFIGURE, title: 'rolls back in one step; the job survives' }],
  'run a playbook on Slurm nodes in batches': [
    {
      file: 'apps/worker/src/slurm-runs.long.test.ts',
      title: 'a job ends undisturbed, killed workers are replaced, an own drain of an admin stays',
    },
  ],
  'hold and cancel Slurm jobs': [{ file: SLURM_ACTIONS, title: 'holds, releases and cancels the jobs that a preview counted' }],
}
