import path from 'node:path'
import type { NextConfig } from 'next'

const api = process.env.MUSTER_API_URL ?? 'http://127.0.0.1:4000'

const config: NextConfig = {
  output: 'standalone',
  outputFileTracingRoot: path.join(import.meta.dirname, '../..'),
  poweredByHeader: false,
  reactStrictMode: true,
  devIndicators: false,
  // Writing Turbopack's cache costs a sixth of the CPU time of a build, and turbo skips builds with unchanged inputs.
  // Pages contain no data, so the browser keeps rendered ones and navigates without a request.
  experimental: { turbopackFileSystemCacheForBuild: false, staleTimes: { dynamic: 3600, static: 3600 } },
  // Types are checked by `tsc --noEmit`, once, for the whole tree; doing it again here would double the time of a first start.
  typescript: { ignoreBuildErrors: true },
  // In production the reverse proxy serves the console and the API under one URL; `next dev` needs this rewrite.
  rewrites: async () => (process.env.NODE_ENV === 'development' ? [{ source: '/graphql', destination: `${api}/graphql` }] : []),
}

export default config
