const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export const isUuid = (text: string): boolean => UUID.test(text)

/** Global ID of the API for a UUID; returns global IDs unchanged. */
export const globalId = (type: string, id: string) => (isUuid(id) ? Buffer.from(`${type}:${id}`).toString('base64') : id)

/** The UUID in a global ID: shorter to read and type. */
export const bareId = (id: string) => Buffer.from(id, 'base64').toString('utf8').split(':')[1] ?? id
