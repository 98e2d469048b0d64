import { readFileSync } from 'node:fs'
import { InvalidArgumentError } from 'commander'
import { fromGraphQL, post, subscribe } from '../client.ts'
import { Command } from '../command.ts'
import { CliError, EXIT, errorFrom } from '../errors.ts'
import { readStdin } from '../prompt.ts'

type Variables = Record<string, unknown>
type Options = { file?: string; var?: Variables; variables?: Variables }

export const api = () =>
  new Command('api')
    .argument('[operation]', 'query, mutation or subscription; `-` reads standard input')
    .option('-f, --file <file>', 'read the operation from a file')
    .option('--var <name=value>', 'variable; JSON if it parses as JSON, otherwise text; repeatable', addVariable)
    .option('--variables <json>', 'all variables as a JSON object; @FILE reads a file', parseVariables)
    .addHelpText(
      'after',
      `
A subscription prints one JSON object per line until the server completes it or Ctrl-C. The exit code is not 0 when the
response has errors, or when a mutation returns an error object.

Examples:
  muster api '{ nodes(first: 3) { totalCount edges { node { name status } } } }'
  muster api 'query ($name: String!) { computeNode(name: $name) { kernel } }' --var name=gpu01`,
    )
    .action(async (argument: string | undefined, options: Options) => {
      const operation = await readOperation(argument, options.file)
      const variables = { ...options.variables, ...options.var }
      if (isSubscription(operation)) return await printEvents(operation, variables)
      const response = await post<Record<string, unknown>>(operation, variables)
      process.stdout.write(`${JSON.stringify(response, null, 2)}\n`)
      if (response.errors?.length) throw fromGraphQL(response.errors)
      for (const failure of Object.values(response.data ?? {}).flatMap(failuresOf)) throw errorFrom(failure)
    })

async function readOperation(argument: string | undefined, file: string | undefined): Promise<string> {
  if ((argument === undefined) === (file === undefined))
    throw new CliError('Specify an operation or --file, not both. `-` reads standard input.', EXIT.usage)
  return argument === '-' || file === '-' ? await readStdin() : (argument ?? readFile(file!))
}

function readFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CliError(`Cannot read ${file}: ${(error as NodeJS.ErrnoException).code}`, EXIT.usage)
  }
}

const isSubscription = (operation: string): boolean => /^\s*subscription\b/.test(operation.replace(/#.*$/gm, ''))

async function printEvents(operation: string, variables: Variables): Promise<void> {
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  for await (const event of subscribe<unknown, Variables>(operation, () => variables, stop.signal))
    process.stdout.write(`${JSON.stringify(event)}\n`)
  if (stop.signal.aborted) process.exitCode = EXIT.interrupted
}

type Failure = { code: string; message: string; issues?: { path: string; message: string }[] }

/** Errors that a mutation returned as data. */
function failuresOf(value: unknown): Failure[] {
  if (typeof value !== 'object' || value === null) return []
  const { code, message, errors } = value as { code?: unknown; message?: unknown; errors?: unknown }
  if (typeof code === 'string' && typeof message === 'string') return [value as Failure]
  return Array.isArray(errors) ? errors.flatMap(failuresOf) : []
}

function addVariable(text: string, before: Variables = {}): Variables {
  const [, name, value] = /^(\w+)=(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined) throw new InvalidArgumentError('It must be name=value.')
  return { ...before, [name]: parseJson(value) ?? value }
}

function parseVariables(text: string): Variables {
  const value = parseJson(text.startsWith('@') ? readFile(text.slice(1)) : text)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new InvalidArgumentError('It must be a JSON object.')
  return value as Variables
}

/** The JSON value of `text`; undefined when it is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
