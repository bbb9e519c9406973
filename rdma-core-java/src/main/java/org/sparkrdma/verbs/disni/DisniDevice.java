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
package org.sparkrdma.verbs.disni;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.OpenResources;
import org.sparkrdma.verbs.engine.LimitChecks;
import org.sparkrdma.verbs.engine.QueuePairTable;

/** An open device and all that was made on it. Safe for any thread. */
final class DisniDevice implements Device {
  private final DeviceContext context;
  private final DisniSettings settings;
  private final TransportRules rules;
  private final Consumer<DisniDevice> onClose;
  private final QueuePairTable<DisniQueuePair> queuePairs = new QueuePairTable<>();
  private final Set<DisniProtectionDomain> domains = ConcurrentHashMap.newKeySet();
  private final Set<DisniMemory> memories = ConcurrentHashMap.newKeySet();
  private final Set<DisniCompletionChannel> channels = ConcurrentHashMap.newKeySet();
  private final Set<DisniCompletionQueue> completionQueues = ConcurrentHashMap.newKeySet();
  private final Set<DisniConnectionManager> managers = ConcurrentHashMap.newKeySet();
  private boolean closed;

  /** Takes over the context. */
  DisniDevice(DeviceContext context, DisniSettings settings, Consumer<DisniDevice> onClose) {
    this.context = context;
    this.settings = settings;
    this.onClose = onClose;
    rules = TransportRules.of(context.info().transport());
  }

  @Override
  public DeviceInfo info() {
    return context.info();
  }

  @Override
  public OpenResources openResources() {
    return new OpenResources(
        domains.size(),
        memories.size(),
        domains.stream().mapToInt(DisniProtectionDomain::regionCount).sum(),
        channels.size(),
        completionQueues.size(),
        domains.stream().mapToInt(DisniProtectionDomain::queuePairCount).sum(),
        managers.size(),
        managers.stream().mapToInt(DisniConnectionManager::listenerCount).sum(),
        managers.stream().mapToInt(DisniConnectionManager::connectionCount).sum());
  }

  @Override
  public synchronized HostMemory allocate(long lengthBytes) throws VerbsException {
    checkOpen();
    LimitChecks.checkMemory(lengthBytes);
    DisniMemory memory = DisniMemory.allocate(this, lengthBytes);
    memories.add(memory);
    return memory;
  }

  @Override
  public synchronized ProtectionDomain allocateProtectionDomain() throws VerbsException {
    checkOpen();
    DisniProtectionDomain domain = DisniProtectionDomain.allocate(this);
    domains.add(domain);
    return domain;
  }

  @Override
  public synchronized CompletionChannel createCompletionChannel() {
    checkOpen();
    var channel = new DisniCompletionChannel(this);
    channels.add(channel);
    return channel;
  }

  @Override
  public synchronized CompletionQueue createCompletionQueue(int capacity, CompletionChannel channel)
      throws VerbsException {
    checkOpen();
    LimitChecks.checkCompletionQueue(capacity, info().limits());
    DisniCompletionQueue queue = DisniCompletionQueue.create(this, capacity, mine(channel));
    completionQueues.add(queue);
    return queue;
  }

  @Override
  public synchronized ConnectionManager createConnectionManager(CompletionChannel channel)
      throws VerbsException {
    checkOpen();
    if (channel == null) {
      throw new IllegalArgumentException("a connection manager needs a channel");
    }
    DisniConnectionManager manager = DisniConnectionManager.create(this, mine(channel));
    managers.add(manager);
    return manager;
  }

  private DisniCompletionChannel mine(CompletionChannel channel) {
    if (channel != null && !channels.contains(channel)) {
      throw new IllegalArgumentException("a channel of another device, or a closed one");
    }
    return (DisniCompletionChannel) channel;
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("device is closed");
    }
  }

  void forget(DisniMemory memory) {
    memories.remove(memory);
  }

  void forget(DisniProtectionDomain domain) {
    domains.remove(domain);
  }

  void forget(DisniCompletionChannel channel) {
    channels.remove(channel);
  }

  void forget(DisniCompletionQueue queue) {
    completionQueues.remove(queue);
  }

  void forget(DisniConnectionManager manager) {
    managers.remove(manager);
  }

  DeviceContext context() {
    return context;
  }

  DisniSettings settings() {
    return settings;
  }

  TransportRules rules() {
    return rules;
  }

  QueuePairTable<DisniQueuePair> queuePairs() {
    return queuePairs;
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    managers.forEach(DisniConnectionManager::close);
    completionQueues.forEach(DisniCompletionQueue::close);
    domains.forEach(DisniProtectionDomain::closeAll);
    memories.forEach(DisniMemory::close);
    channels.forEach(DisniCompletionChannel::close);
    context.close();
    onClose.accept(this);
  }
}
