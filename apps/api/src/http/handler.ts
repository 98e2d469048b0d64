import type { IncomingMessage, ServerResponse } from 'node:http'

/** Handles one HTTP request. */
export type Handler = (req: IncomingMessage, res: ServerResponse) => unknown
