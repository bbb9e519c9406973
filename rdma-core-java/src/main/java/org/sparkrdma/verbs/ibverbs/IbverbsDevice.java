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
package org.sparkrdma.verbs.ibverbs;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
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
final class IbverbsDevice implements Device {
  private final Libraries libraries;
  private final IbverbsSettings settings;
  private final Contexts contexts;
  private final long context;
  private final TransportRules rules;
  private final DeviceInfo info;
  private final Consumer<IbverbsDevice> onClose;
  private final AsyncEvents asyncEvents;
  private final QueuePairTable<IbverbsQueuePair> queuePairs = new QueuePairTable<>();
  private final AtomicLong registeredBytes = new AtomicLong();
  private final Set<IbverbsProtectionDomain> domains = ConcurrentHashMap.newKeySet();
  private final Set<IbverbsMemory> memories = ConcurrentHashMap.newKeySet();
  private final Set<IbverbsCompletionChannel> channels = ConcurrentHashMap.newKeySet();
  private final Set<IbverbsCompletionQueue> completionQueues = ConcurrentHashMap.newKeySet();
  private final Set<IbverbsConnectionManager> managers = ConcurrentHashMap.newKeySet();
  private boolean closed;

  /** Takes over the contexts. */
  IbverbsDevice(
      Libraries libraries,
      IbverbsSettings settings,
      Contexts contexts,
      long context,
      DeviceInfo info,
      Consumer<IbverbsDevice> onClose) {
    this.libraries = libraries;
    this.settings = settings;
    this.contexts = contexts;
    this.context = context;
    this.info = info;
    this.onClose = onClose;
    rules = TransportRules.of(Contexts.transportType(context));
    asyncEvents = AsyncEvents.acquire(libraries.verbs(), context);
  }

  @Override
  public DeviceInfo info() {
    return info;
  }

  @Override
  public OpenResources openResources() {
    managers.forEach(IbverbsConnectionManager::takeEvents);
    return new OpenResources(
        domains.size(),
        memories.size(),
        domains.stream().mapToInt(IbverbsProtectionDomain::regionCount).sum(),
        channels.size(),
        completionQueues.size(),
        domains.stream().mapToInt(IbverbsProtectionDomain::queuePairCount).sum(),
        managers.size(),
        managers.stream().mapToInt(IbverbsConnectionManager::listenerCount).sum(),
        managers.stream().mapToInt(IbverbsConnectionManager::connectionCount).sum());
  }

  @Override
  public synchronized HostMemory allocate(long lengthBytes) throws VerbsException {
    checkOpen();
    LimitChecks.checkMemory(lengthBytes);
    IbverbsMemory memory = IbverbsMemory.allocate(this, lengthBytes);
    memories.add(memory);
    return memory;
  }

  @Override
  public synchronized ProtectionDomain allocateProtectionDomain() throws VerbsException {
    checkOpen();
    IbverbsProtectionDomain domain = IbverbsProtectionDomain.allocate(this);
    domains.add(domain);
    return domain;
  }

  @Override
  public synchronized CompletionChannel createCompletionChannel() throws VerbsException {
    checkOpen();
    IbverbsCompletionChannel channel = IbverbsCompletionChannel.create(this);
    channels.add(channel);
    return channel;
  }

  @Override
  public synchronized CompletionQueue createCompletionQueue(int capacity, CompletionChannel channel)
      throws VerbsException {
    checkOpen();
    LimitChecks.checkCompletionQueue(capacity, info.limits());
    IbverbsCompletionQueue queue = IbverbsCompletionQueue.create(this, capacity, mine(channel));
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
    IbverbsConnectionManager manager = IbverbsConnectionManager.create(this, mine(channel));
    managers.add(manager);
    return manager;
  }

  private IbverbsCompletionChannel mine(CompletionChannel channel) {
    if (channel != null && !channels.contains(channel)) {
      throw new IllegalArgumentException("a channel of another device, or a closed one");
    }
    return (IbverbsCompletionChannel) channel;
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("device is closed");
    }
  }

  void forget(IbverbsMemory memory) {
    memories.remove(memory);
  }

  void forget(IbverbsProtectionDomain domain) {
    domains.remove(domain);
  }

  void forget(IbverbsCompletionChannel channel) {
    channels.remove(channel);
  }

  void forget(IbverbsCompletionQueue queue) {
    completionQueues.remove(queue);
  }

  void forget(IbverbsConnectionManager manager) {
    managers.remove(manager);
  }

  Libraries libraries() {
    return libraries;
  }

  IbverbsSettings settings() {
    return settings;
  }

  long context() {
    return context;
  }

  TransportRules rules() {
    return rules;
  }

  AsyncEvents asyncEvents() {
    return asyncEvents;
  }

  QueuePairTable<IbverbsQueuePair> queuePairs() {
    return queuePairs;
  }

  /** How much is registered now; the system counts that against the memlock limit. */
  AtomicLong registeredBytes() {
    return registeredBytes;
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    managers.forEach(IbverbsConnectionManager::close);
    completionQueues.forEach(IbverbsCompletionQueue::close);
    domains.forEach(IbverbsProtectionDomain::closeAll);
    memories.forEach(IbverbsMemory::abandon);
    channels.forEach(IbverbsCompletionChannel::close);
    asyncEvents.release();
    contexts.close();
    onClose.accept(this);
  }
}
