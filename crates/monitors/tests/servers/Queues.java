import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.eclipse.jetty.jmx.MBeanContainer;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.AbstractHandler;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** Tomcat, Jetty and HikariCP with sizes that are known, and requests that stay. Ends with its input. */
public class Queues {
    static void stay() {
        try {
            Thread.sleep(600_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static void call(int port) {
        Thread caller = new Thread(() -> {
            try (var socket = new java.net.Socket("127.0.0.1", port)) {
                socket.getOutputStream().write("GET / HTTP/1.1\r\nHost: a\r\n\r\n".getBytes());
                socket.getInputStream().read();
            } catch (IOException e) {
                // The server ends first.
            }
        });
        caller.setDaemon(true);
        caller.start();
    }

    public static void main(String[] words) throws Exception {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(Files.createTempDirectory("tomcat").toString());
        tomcat.setPort(0);
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        tomcat.getConnector().setProperty("maxThreads", "7");
        tomcat.getConnector().setProperty("maxConnections", "77");
        Context context = tomcat.addContext("", null);
        Tomcat.addServlet(context, "stay", new HttpServlet() {
            @Override
            protected void doGet(HttpServletRequest request, HttpServletResponse response) {
                stay();
            }
        });
        context.addServletMappingDecoded("/", "stay");
        tomcat.start();

        QueuedThreadPool threads = new QueuedThreadPool(9, 9);
        Server jetty = new Server(threads);
        jetty.addBean(new MBeanContainer(ManagementFactory.getPlatformMBeanServer()));
        ServerConnector connector = new ServerConnector(jetty, 1, 1);
        connector.setHost("127.0.0.1");
        jetty.addConnector(connector);
        jetty.setHandler(new AbstractHandler() {
            @Override
            public void handle(String target, Request base, javax.servlet.http.HttpServletRequest request,
                               javax.servlet.http.HttpServletResponse response) {
                stay();
            }
        });
        jetty.start();

        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:h2:mem:a");
        config.setMaximumPoolSize(3);
        config.setRegisterMbeans(true);
        HikariDataSource pool = new HikariDataSource(config);
        List<Connection> held = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            held.add(pool.getConnection());
        }
        for (int i = 0; i < 2; i++) {
            Thread waits = new Thread(() -> {
                try {
                    pool.getConnection();
                } catch (java.sql.SQLException e) {
                    // It is not given one.
                }
            });
            waits.setDaemon(true);
            waits.start();
        }
        for (int i = 0; i < 4; i++) {
            call(tomcat.getConnector().getLocalPort());
        }
        for (int i = 0; i < 20; i++) {
            call(connector.getLocalPort());
        }
        System.out.println("ready");
        while (System.in.read() >= 0) {
            continue;
        }
        Runtime.getRuntime().halt(0);
    }
}
