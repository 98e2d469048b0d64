import type { LargeCluster } from './large-cluster.ts'

const SOCKET = '/tmp/slurmrestd.sock'
/** What a client reads to show a cluster: as our refresh, without the configuration, which this interface does not have. */
const PATHS = ['ping', 'diag', 'nodes', 'partitions', 'reservations', 'jobs']

/** Debian's slurmrestd on the controller, which requires another account than root and SlurmUser. */
export async function startSlurmrestd({ lab, sh }: LargeCluster) {
  const asOps = 'setpriv --reuid=ops --regid=ops --init-groups'
  // SLURM_JWT selects another authentication; a Unix socket needs none.
  const daemon = `${asOps} /usr/sbin/slurmrestd -a rest_auth/local -s openapi/v0.0.38 unix:${SOCKET}`
  await sh(
    `nohup ${daemon} >/tmp/slurmrestd.log 2>&1 & for i in $(seq 100); do [ -S ${SOCKET} ] && exit 0; sleep 0.1; done; cat /tmp/slurmrestd.log >&2; exit 1`,
  )
  const get = (path: string, output: string) =>
    `curl --silent --fail --unix-socket ${SOCKET} http://localhost/slurm/v0.0.38/${path} > ${output}`
  return {
    /** Reads the cluster once. @returns the numbers of nodes and jobs */
    async poll(): Promise<{ nodes: number; jobs: number }> {
      const reads = PATHS.map((path) => get(path, `/tmp/${path}.json`))
      const count = `python3 -c 'import json; print(*[len(json.load(open(f"/tmp/{what}.json"))[what]) for what in ("nodes", "jobs")])'`
      const { code, stdout, stderr } = await lab.slurm!.run(['sh', '-c', `${asOps} sh -ec '${reads.join('\n')}' && ${count}`])
      if (code !== 0) throw new Error(`slurmrestd did not answer: ${stderr || (await sh('tail -5 /tmp/slurmrestd.log'))}`)
      const [nodes = 0, jobs = 0] = stdout.trim().split(' ').map(Number)
      return { nodes, jobs }
    },
  }
}
