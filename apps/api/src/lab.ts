import { readFile } from 'node:fs/promises'
import type { LabDescription } from '@muster/lab'

/** Description of the lab in MUSTER_LAB_FILE; null when no lab is configured or the lab is still starting. */
export async function readLab(file: string | undefined): Promise<LabDescription | null> {
  if (!file) return null
  try {
    return JSON.parse(await readFile(file, 'utf8')) as LabDescription
  } catch (error) {
    // The file is missing or incomplete while the lab starts.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return null
    throw error
  }
}

/** Names of the credentials for lab nodes. */
export const LAB_CREDENTIALS = {
  key: 'lab key',
  password: 'lab password',
  bastion: 'lab bastion',
  sudo: 'lab sudo',
  bmc: 'lab BMC',
} as const

/** Tag of lab nodes. */
export const LAB_TAG = 'lab'

/** Lab nodes as CSV for the node import. */
export function labCsv(lab: LabDescription): string {
  const rows = lab.nodes.map((node) =>
    [node.name, node.host, node.port, LAB_CREDENTIALS.key, node.behindBastion ? LAB_CREDENTIALS.bastion : '', LAB_TAG].join(','),
  )
  return ['name,host,port,credential,bastion,tags', ...rows].join('\n')
}
