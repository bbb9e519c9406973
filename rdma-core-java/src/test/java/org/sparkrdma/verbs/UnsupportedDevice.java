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
package org.sparkrdma.verbs;

import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.OpenResources;

/** A device that can do nothing; a test's own device overrides what the test needs. */
public abstract class UnsupportedDevice implements Device {
  @Override
  public DeviceInfo info() {
    throw new UnsupportedOperationException();
  }

  @Override
  public OpenResources openResources() {
    throw new UnsupportedOperationException();
  }

  @Override
  public HostMemory allocate(long lengthBytes) throws VerbsException {
    throw new UnsupportedOperationException();
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() {
    throw new UnsupportedOperationException();
  }

  @Override
  public CompletionChannel createCompletionChannel() {
    throw new UnsupportedOperationException();
  }

  @Override
  public CompletionQueue createCompletionQueue(int capacity, CompletionChannel channel) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ConnectionManager createConnectionManager(CompletionChannel channel) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {}
}
