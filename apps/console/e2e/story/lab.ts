import fs from 'node:fs'
import path from 'node:path'
import { type Lab, listLabs } from '@muster/lab'

/** The lab of the product under test, to break and heal its nodes. */
export async function theLab(): Promise<Lab> {
  const file = path.join(process.env.MUSTER_DATA_DIR ?? '', 'lab.json')
  const { id } = JSON.parse(fs.readFileSync(file, 'utf8')) as { id: string }
  const lab = (await listLabs()).find((each) => each.id === id)
  if (!lab) throw new Error(`The lab ${id} of ${file} is not up.`)
  return lab
}
