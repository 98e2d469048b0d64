import { languageScript } from '@/messages/language.ts'
import { themeScript } from '@/shell/theme.ts'

export const dynamic = 'force-static'

/** The script that runs before the first paint and prevents a flash of the wrong theme or language. */
export const GET = () =>
  new Response(`${themeScript};${languageScript}`, {
    headers: { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'public, max-age=3600' },
  })
