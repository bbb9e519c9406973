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
package org.sparkrdma.verbs.ibverbs.ffi;

import com.kenai.jffi.Invoker;
import com.kenai.jffi.internal.StubLoader;
import org.sparkrdma.verbs.spi.EngineUnavailableException;

/**
 * Loads jffi's own library, {@code libjffi-1.2.so}, which jffi extracts from a jar into a temporary
 * folder.
 *
 * <p>A native method finds only libraries that its class's own class loader has loaded. jffi looks
 * for its loading class in the system's class loader first and in the thread's context class loader
 * next; where one of them has another jffi, that one loads its library too. So the loading class of
 * our class loader is asked here first, and decides.
 */
final class JffiLibrary {
  private static final String SETTINGS =
      "name a folder whose file system allows execution with -Djffi.extract.dir=FOLDER in"
          + " spark.executor.extraJavaOptions and spark.driver.extraJavaOptions";

  private JffiLibrary() {}

  /**
   * Loads it, once for each class loader.
   *
   * @throws EngineUnavailableException when it cannot be loaded, with the reason in a sentence
   */
  static void load() throws EngineUnavailableException {
    Thread thread = Thread.currentThread();
    ClassLoader context = thread.getContextClassLoader();
    // jffi looks for its library among the context's resources, and for its loading class there.
    thread.setContextClassLoader(JffiLibrary.class.getClassLoader());
    try {
      if (!StubLoader.isLoaded()) {
        throw unusable(StubLoader.getFailureCause());
      }
      Invoker.getInstance();
    } catch (LinkageError e) {
      throw unusable(e);
    } finally {
      thread.setContextClassLoader(context);
    }
  }

  /** Why jffi cannot be used. */
  static EngineUnavailableException unusable(Throwable cause) {
    return new EngineUnavailableException(
        "Java "
            + Runtime.version().feature()
            + " needs jffi to call the RDMA libraries, and jffi cannot load its own: "
            + SETTINGS,
        cause);
  }
}
