import { request } from '../../client.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { selectNode } from '../../selector.ts'
import { readNow } from './status.ts'

const READING = graphql(`query BmcReading($name: String!) {
  computeNode(name: $name) {
    bmc { reading { error detailsReadAt sensors { name kind value unit health } events { entryId at severity message } } }
  }
}`)

/** What was last read from the BMC of a node; a warning about a failed reading goes to stderr. */
export async function readingOf(selector: string, refresh: boolean) {
  const { name } = await selectNode(selector)
  if (refresh) await readNow(name)
  const { computeNode: node } = await request(READING, { name })
  if (!node?.bmc) throw new CliError(`The node ${name} has no BMC. Set it with \`muster bmc set ${name}\`.`, EXIT.rejected)
  const { reading } = node.bmc
  if (reading?.error) process.stderr.write(`${reading.error}\n`)
  if (!reading?.detailsReadAt) process.stderr.write('The BMC was not read yet; --refresh reads it now.\n')
  return reading
}
