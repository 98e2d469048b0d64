import { createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { INVALID_TOKEN, USER_AGENT, unreachable } from './client.ts'
import { CliError, EXIT, NotSignedIn } from './errors.ts'
import { plain, write } from './output.ts'
import { readSettings } from './settings.ts'

/**
 * Downloads from the API to `file` or standard output, with backpressure. Removes an incomplete file. A terminal gets no control
 * sequences except colors.
 * @param path relative to the address of the API, or a presigned URL that needs no token
 * @throws CliError with the server's message
 */
export async function download(path: string, file?: string): Promise<void> {
  const body = await fetchBody(path)
  try {
    if (!file) {
      for await (const chunk of body.setEncoding('utf8')) await write(process.stdout.isTTY ? plain(chunk) : chunk)
      return
    }
    await mkdir(dirname(file), { recursive: true })
    await pipeline(body, createWriteStream(file))
  } catch (error) {
    if (file) await rm(file, { force: true })
    throw incomplete(error)
  }
}

/** Downloads from the API line by line. @throws CliError when the connection ends early; a partial line is not returned */
export async function* downloadLines(path: string): AsyncGenerator<string> {
  const body = await fetchBody(path)
  let rest = ''
  try {
    for await (const chunk of body.setEncoding('utf8')) {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop()!
      yield* lines
    }
  } catch (error) {
    throw incomplete(error)
  }
}

const incomplete = (error: unknown) => new CliError(`The download is incomplete: ${(error as Error).message}.`, EXIT.unavailable)

async function fetchBody(path: string): Promise<Readable> {
  const settings = readSettings()
  const url = new URL(path, settings.url)
  const isPresigned = URL.canParse(path)
  let response: Response
  try {
    response = await fetch(
      url,
      isPresigned ? {} : { headers: { authorization: `Bearer ${settings.token}`, 'user-agent': USER_AGENT } },
    )
  } catch (error) {
    throw unreachable(url.origin, error)
  }
  if (response.status === 401) throw new NotSignedIn(INVALID_TOKEN)
  if (!response.ok || !response.body) {
    const exit = response.status === 404 ? EXIT.notFound : response.status === 503 ? EXIT.unavailable : EXIT.rejected
    throw new CliError(
      (await response.text()).trim().slice(0, 500) || `${url.origin} answered with status ${response.status}.`,
      exit,
    )
  }
  return Readable.fromWeb(response.body as ReadableStream)
}
