import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * pass       bytes go through
 * refuse     nobody listens, and the connections there were are reset
 * silent     connections are accepted and all bytes stay where they are, until the next mode lets them go on
 * delay      what the client says arrives `delayMs` later
 * cut        what the client says arrives; instead of the answer the connection is reset
 * half-open  the server is gone and the client is not told: the next mode resets it as soon as it has something to say
 */
export type ProxyMode = 'pass' | 'refuse' | 'silent' | 'delay' | 'cut' | 'half-open';

const HOST = '127.0.0.1';

/** A wire between a client and a server that can be broken in all the ways wires break. */
export class FaultyWire {
  delayMs = 0;
  port = 0;
  #target: number;
  readonly #links = new Set<Wire>();
  #server: Server | undefined;
  #mode: ProxyMode = 'pass';

  private constructor(target: number) {
    this.#target = target;
  }

  static async to(target: number): Promise<FaultyWire> {
    const proxy = new FaultyWire(target);
    await proxy.#listen();
    return proxy;
  }

  get mode(): ProxyMode {
    return this.#mode;
  }

  async set(mode: ProxyMode): Promise<void> {
    const before = this.#mode;
    this.#mode = mode;
    if (mode === 'refuse') await this.close();
    if (mode === 'half-open') for (const link of this.#links) link.loseServer();
    if (before === 'refuse' && mode !== 'refuse') await this.#listen();
    if (before === 'silent') for (const link of this.#links) link.letGo();
    if (before === 'half-open') for (const link of this.#links) link.retransmit();
  }

  /** New connections go to another server from now on, like a name that has moved. */
  retarget(port: number): void {
    this.#target = port;
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    for (const link of [...this.#links]) link.reset();
    if (server !== undefined) await new Promise((done) => server.close(done));
  }

  #listen(): Promise<void> {
    const server = createServer((client) => {
      const link = new Wire(client, this.#target, this);
      this.#links.add(link);
      client.once('close', () => this.#links.delete(link));
    });
    this.#server = server;
    return new Promise((done, fail) => {
      server.once('error', fail);
      server.listen(this.port, HOST, () => {
        this.port = (server.address() as { port: number }).port;
        done();
      });
    });
  }
}

class Wire {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #proxy: FaultyWire;
  #held: (() => void)[] = [];
  #lost = false;
  #said = false;

  constructor(client: Socket, target: number, proxy: FaultyWire) {
    this.#client = client;
    this.#proxy = proxy;
    this.#server = connect(target, HOST);
    client.setNoDelay(true);
    this.#server.setNoDelay(true);
    for (const socket of [client, this.#server]) socket.on('error', () => {});
    if (proxy.mode === 'half-open') this.loseServer();
    client.on('data', (data) => this.#fromClient(data));
    this.#server.on('data', (data) => this.#fromServer(data));
    client.on('close', () => this.#server.destroy());
    this.#server.on('close', () => {
      if (!this.#lost) this.#client.destroy();
    });
  }

  loseServer(): void {
    this.#lost = true;
    this.#server.destroy();
  }

  /** What the client has said in vain its system says again, and learns that nobody knows it. */
  retransmit(): void {
    if (this.#lost && this.#said) this.reset();
  }

  letGo(): void {
    for (const move of this.#held.splice(0)) move();
  }

  reset(): void {
    this.#client.resetAndDestroy();
    this.#server.destroy();
  }

  #fromClient(data: Buffer): void {
    const { mode, delayMs } = this.#proxy;
    const forward = () => void (this.#server.writable && this.#server.write(data));
    if (this.#lost) {
      this.#said = true;
      if (mode !== 'half-open') this.reset();
    } else if (mode === 'silent') this.#held.push(forward);
    else if (mode === 'delay') setTimeout(forward, delayMs);
    else forward();
  }

  #fromServer(data: Buffer): void {
    const { mode } = this.#proxy;
    const forward = () => void (this.#client.writable && this.#client.write(data));
    if (mode === 'silent') this.#held.push(forward);
    else if (mode === 'cut') this.reset();
    else forward();
  }
}
