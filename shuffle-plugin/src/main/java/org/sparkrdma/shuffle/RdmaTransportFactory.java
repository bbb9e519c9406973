/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.shuffle;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.SparkEnv;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockTransport;
import org.sparkrdma.shuffle.output.SparkMapOutputs;
import org.sparkrdma.shuffle.pinned.Preflight;
import org.sparkrdma.shuffle.spark.ShuffleTransportConf;
import org.sparkrdma.shuffle.transport.RdmaTransport;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.verbs.VerbsException;

/** Starts the {@link RdmaTransport} of an executor. Stateless. */
final class RdmaTransportFactory implements TransportFactory {
  @Override
  public RunningTransport start(Parts parts) throws VerbsException {
    new Preflight().check(parts.device(), parts.budget(), parts.limit(), parts.machine());
    SparkEnv env = parts.env();
    SecureRandom random = new SecureRandom();
    byte[] token = new byte[Endpoint.TOKEN_BYTES];
    random.nextBytes(token);
    long incarnation = random.nextLong();
    String engine = parts.device().info().engine();
    RdmaTransport transport =
        RdmaTransport.open(
            parts.settings().transport(parts.limit().bytes()),
            parts.settings().serve(),
            new RdmaTransport.Environment(
                parts.device(),
                parts.budget(),
                new SparkMapOutputs(parts.resolver(), localDirectories(env), env.conf()),
                ShuffleTransportConf.of(env.conf()),
                new InetSocketAddress(parts.address(), parts.settings().listenPort()),
                address ->
                    new Endpoint(
                        env.executorId(),
                        address.getAddress().getHostAddress(),
                        address.getPort(),
                        engine,
                        Hello.PROTOCOL,
                        incarnation,
                        token),
                secret(env),
                parts.settings().trustedFabric(),
                parts.outOfService(),
                parts.counters(),
                System::nanoTime));
    return new Running(transport);
  }

  private static byte[] secret(SparkEnv env) {
    return env.securityManager().isAuthenticationEnabled()
        ? env.securityManager().getSecretKey().getBytes(StandardCharsets.UTF_8)
        : new byte[0];
  }

  private static List<Path> localDirectories(SparkEnv env) {
    return Stream.of(env.blockManager().diskBlockManager().localDirsString())
        .map(Path::of)
        .toList();
  }

  /** The transport as the runtime sees it. */
  private record Running(RdmaTransport rdma) implements RunningTransport {
    @Override
    public BlockTransport transport() {
      return rdma;
    }

    @Override
    public Endpoint endpoint() {
      return rdma.endpoint();
    }

    @Override
    public void unregisterShuffle(int shuffleId) {
      rdma.unregisterShuffle(shuffleId, () -> {});
    }

    @Override
    public void close() {
      rdma.close();
    }
  }
}
