import { z } from 'zod'
import { Id, singleLineText } from '../kernel/input.ts'

/** Folder of programs on a host: an absolute path without characters that need quoting. */
export const ProgramFolder = z.string().regex(/^\/[A-Za-z0-9._+/-]{1,200}$/, 'must be an absolute path such as /opt/slurm/bin')

/** Fields of a cluster that users set. */
export const CLUSTER_FIELDS = {
  name: singleLineText(63),
  region: singleLineText(100).nullish(),
  controllerNodeId: Id,
  backupNodeId: Id.nullish(),
  programFolder: ProgramFolder.nullish(),
  maxNodes: z.int().min(1).max(100_000).nullish(),
}
