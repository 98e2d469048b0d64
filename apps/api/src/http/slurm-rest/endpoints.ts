import {
  CHECK_NODES,
  CONNECT,
  INFO,
  LIST,
  NODES,
  OPERATION,
  READINESS,
  READINESS_RESULT,
  REFRESH,
  REMOVE,
  SCALE_OUT,
  TEST,
  TEST_RESULT,
} from './documents.ts'

export type Method = 'GET' | 'POST' | 'DELETE'

export type RestEndpoint = {
  /** Operation with one root field `result`. Its variables: `$id` of the path, `$input` (the body), `$first` and `$after`. */
  document: string
  /** Default: 200. */
  status?: number
  /** Whether the body is the variable `$input`. */
  hasBody?: boolean
  /** Whether `first` and `after` select a page. */
  isPaged?: boolean
  /** Name of the object in the payload of a mutation. Default: `result` itself. */
  field?: string
}

/** REST endpoints for Slurm clusters. Each executes a fixed GraphQL operation, which authorizes and audits it. */
export const SLURM_ENDPOINTS: Record<string, Partial<Record<Method, RestEndpoint>>> = {
  '/api/slurm/clusters': { GET: { document: LIST, isPaged: true } },
  '/api/slurm/clusters/connect': { POST: { document: CONNECT, hasBody: true, field: 'slurmCluster', status: 201 } },
  '/api/slurm/clusters/test-connection': { POST: { document: TEST, hasBody: true, field: 'slurmClusterTest', status: 202 } },
  '/api/slurm/clusters/test-connection/:id': { GET: { document: TEST_RESULT } },
  '/api/slurm/clusters/:id': { DELETE: { document: REMOVE } },
  '/api/slurm/clusters/:id/info': { GET: { document: INFO } },
  '/api/slurm/clusters/:id/nodes': { GET: { document: NODES, isPaged: true, field: 'nodes' } },
  '/api/slurm/clusters/:id/refresh': { POST: { document: REFRESH, field: 'slurmCluster', status: 202 } },
  '/api/slurm/nodes/check': { POST: { document: CHECK_NODES, hasBody: true } },
  '/api/slurm/nodes/check-saltstack': {
    POST: { document: READINESS, hasBody: true, field: 'slurmReadinessCheck', status: 202 },
  },
  '/api/slurm/nodes/check-saltstack/:id': { GET: { document: READINESS_RESULT } },
  '/api/slurm/nodes/scale': { POST: { document: SCALE_OUT, hasBody: true, field: 'slurmOperation', status: 202 } },
  '/api/slurm/operations/:id': { GET: { document: OPERATION, isPaged: true } },
}
