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
package org.sparkrdma.shuffle.thread;

/**
 * The only thread that may use an object. {@code assert owner.holds();} in each entry point throws
 * in tests when another thread calls, and costs nothing without assertions. Without an owner any
 * thread may call. Safe for any thread.
 */
public final class Owner {
  private volatile Thread thread;

  /** Makes the current thread the owner. */
  public void take() {
    thread = Thread.currentThread();
  }

  /** Ends the ownership. */
  public void release() {
    thread = null;
  }

  /**
   * @return true
   * @throws IllegalStateException when another thread owns
   */
  public boolean holds() {
    Thread owner = thread;
    if (owner != null && owner != Thread.currentThread()) {
      throw new IllegalStateException(
          "used by a thread that is not the owner: owner="
              + owner.getName()
              + " thread="
              + Thread.currentThread().getName());
    }
    return true;
  }
}
