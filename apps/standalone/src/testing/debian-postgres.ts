import fs from 'node:fs'

const FOLDER = '/usr/lib/postgresql'

/** Folder with bin/ of the oldest Postgres that Debian's packages installed, with pg_dump; null when there is none. */
export function debianPostgres(): string | null {
  const versions = fs.existsSync(FOLDER)
    ? fs.readdirSync(FOLDER).filter((name) => fs.existsSync(`${FOLDER}/${name}/bin/initdb`))
    : []
  const [oldest] = versions.sort((a, b) => Number(a) - Number(b))
  return oldest ? `${FOLDER}/${oldest}` : null
}
