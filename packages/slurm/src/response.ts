import { SlurmOutputError } from './errors.ts'
import { isObject, type JsonObject, objects, readText } from './json.ts'

/**
 * Reads the --json output of a tool and returns the list at `key`.
 * Slurm 22.05 exits with 0 and an empty list when the controller does not answer; its `errors` are the only sign.
 * @throws SlurmOutputError when the output is no JSON, has errors, or has no such list
 */
export function readJsonList(output: string, key: string): JsonObject[] {
  const response = readJson(output)
  if (!Array.isArray(response[key])) throw new SlurmOutputError(`the JSON has no list "${key}"`)
  return objects(response[key])
}

/**
 * Reads the --json output of a tool.
 * @throws SlurmOutputError when the output is no JSON object or reports errors
 */
export function readJson(output: string): JsonObject {
  let response: unknown
  try {
    response = JSON.parse(output)
  } catch {
    throw new SlurmOutputError(output.trim() === '' ? 'the output is empty' : 'the output is not complete JSON')
  }
  if (!isObject(response)) throw new SlurmOutputError('the JSON is no object')
  const errors = objects(response.errors)
    .map((error) => readText(error.error) ?? readText(error.description))
    .filter((text) => text !== null && text !== 'No error')
  if (errors.length) throw new SlurmOutputError(errors.join('; '))
  return response
}

/** Whether the output is JSON rather than the text of `scontrol show -o`. */
export const isJson = (output: string): boolean => /^\s*\{/.test(output)
