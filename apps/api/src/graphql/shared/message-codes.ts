import { describeMessage, type MessageCode } from '@muster/core/messages'
import { handleStreamOrSingleExecutionResult, type Plugin } from 'graphql-yoga'
import type { ApiContext } from '../../context.ts'

/** A client that sends it with any value gets `extensions.messages`; with WebSockets in the payload of connection_init. */
export const MESSAGE_CODES_HEADER = 'x-message-codes'

/** Fields with texts that Muster makes. Those of users and of programs have no code. */
const FIELD = /(^|[a-z])(reason|message|error|conflict|detail|hint)$/i

/**
 * Adds codes to results, by text: `{"The cluster a has no …": {"code": "slurm.noController", "params": {"name": "a"}}}`. Clients translate
 * the texts with them.
 */
export function messageCodes(): Plugin<ApiContext> {
  const wants = ({ headers }: ApiContext) => headers.has(MESSAGE_CODES_HEADER)
  return {
    onExecute({ args }) {
      if (!wants(args.contextValue)) return
      return {
        onExecuteDone: (payload) =>
          handleStreamOrSingleExecutionResult(payload, ({ result, setResult }) => setResult(withCodes(result))),
      }
    },
    onSubscribe({ args }) {
      if (!wants(args.contextValue)) return
      return { onSubscribeResult: () => ({ onNext: ({ result, setResult }) => setResult(withCodes(result)) }) }
    },
  }
}

type Result = { data?: unknown; errors?: readonly { message: string }[]; extensions?: Record<string, unknown> }

function withCodes<R extends object>(result: R): R {
  const messages: Record<string, MessageCode> = {}
  const { data, errors = [], extensions } = result as Result
  const add = (text: string) => {
    const found = messages[text] ? null : describeMessage(text)
    if (!found) return
    messages[text] = found
    Object.values(found.params).forEach(add)
  }
  collect(data, add)
  for (const { message } of errors) add(message)
  return Object.keys(messages).length === 0 ? result : { ...result, extensions: { ...extensions, messages } }
}

function collect(value: unknown, add: (text: string) => void): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, part] of Object.entries(value))
    if (typeof part !== 'string') collect(part, add)
    else if (FIELD.test(name)) add(part)
}
