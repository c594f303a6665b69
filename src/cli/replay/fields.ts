import { usageFault } from '../fault.ts';

/** A value of a log line. `named` is a field of JSON or a column of CSV, `header` a request header. */
export interface Field {
  readonly kind:
    | 'ip'
    | 'user'
    | 'time'
    | 'method'
    | 'path'
    | 'status'
    | 'bytes'
    | 'header'
    | 'named';
  readonly name: string;
}

/** What is looked for in every line. */
export interface Fields {
  /** Who is limited; several values together are one key. */
  readonly key: readonly Field[];
  readonly time: Field;
  readonly cost: Field | undefined;
  readonly group: Field | undefined;
}

const KINDS = ['ip', 'user', 'method', 'path', 'status', 'bytes'] as const;

/** `ip`, `user`, `path`, `method`, `status`, `bytes`, `header:NAME`, `field:NAME`, or a bare NAME for a field. */
export function parseField(option: string, text: string): Field {
  const kind = KINDS.find((known) => known === text);
  if (kind !== undefined) return { kind, name: text };
  const [prefix = '', ...rest] = text.split(':');
  const name = rest.join(':');
  if (prefix === 'header' && name !== '') return { kind: 'header', name: name.toLowerCase() };
  if (prefix === 'field' && name !== '') return { kind: 'named', name };
  if (text === '' || prefix === 'header' || prefix === 'field') {
    throw usageFault(
      `${option} must be ${KINDS.join(', ')}, header:NAME or field:NAME; got '${text}'`,
    );
  }
  return { kind: 'named', name: text };
}

/** Names under which JSON and CSV logs keep these values, the usual ones of Node, nginx, Caddy, Envoy and the clouds. */
export const USUAL_NAMES: Readonly<Record<Field['kind'], readonly string[]>> = {
  ip: [
    'ip',
    'client_ip',
    'clientIp',
    'remote_addr',
    'remoteAddr',
    'remoteAddress',
    'remote_ip',
    'clientip',
    'client',
    'host',
    'req.ip',
    'req.remoteAddress',
    'request.client_ip',
    'request.remote_ip',
    'request.remote_addr',
    'httpRequest.remoteIp',
  ],
  user: ['user', 'user_id', 'userId', 'remote_user', 'username', 'uid', 'req.user', 'user.id'],
  time: [
    'time',
    'timestamp',
    '@timestamp',
    'ts',
    'time_iso8601',
    'time_local',
    'datetime',
    'date',
    'msec',
    'start_time',
  ],
  method: ['method', 'request_method', 'req.method', 'request.method', 'httpRequest.requestMethod'],
  path: [
    'path',
    'url',
    'uri',
    'request_uri',
    'req.url',
    'request.uri',
    'request.path',
    'httpRequest.requestUrl',
  ],
  status: ['status', 'statusCode', 'status_code', 'res.statusCode', 'response.status'],
  bytes: ['bytes', 'body_bytes_sent', 'bytes_sent', 'size', 'responseSize'],
  header: [],
  named: [],
};

/** The path alone: no query, which is where the ids and the secrets are. */
export function withoutQuery(path: string): string {
  const end = path.search(/[?#]/);
  return end < 0 ? path : path.slice(0, end);
}
