import { readFile } from 'node:fs/promises'
import type { LabDescription } from '@muster/lab'

/** What the lab named by MUSTER_LAB_FILE says of itself; null without one, or while it comes up. */
export async function readLab(file: string | undefined): Promise<LabDescription | null> {
  if (!file) return null
  try {
    return JSON.parse(await readFile(file, 'utf8')) as LabDescription
  } catch (error) {
    // Not there yet, or just being written.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return null
    throw error
  }
}

/** Names of the credentials that are made for the lab. */
export const LAB_CREDENTIALS = { key: 'lab key', password: 'lab password', bastion: 'lab bastion', sudo: 'lab sudo' } as const

/** What marks a node as one of the lab's. */
export const LAB_TAG = 'lab'

/** The lab's nodes as a table that an import can read. */
export function labCsv(lab: LabDescription): string {
  const rows = lab.nodes.map((node) =>
    [node.name, node.host, node.port, LAB_CREDENTIALS.key, node.behindBastion ? LAB_CREDENTIALS.bastion : '', LAB_TAG].join(','),
  )
  return ['name,host,port,credential,bastion,tags', ...rows].join('\n')
}
