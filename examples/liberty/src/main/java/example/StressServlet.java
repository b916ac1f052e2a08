package example;

import java.io.IOException;
import java.math.BigInteger;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.concurrent.ThreadLocalRandom;

import javax.naming.InitialContext;
import javax.naming.NamingException;
import javax.sql.DataSource;

import jakarta.servlet.ServletException;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

/**
 * Reads for {@code searchTime} ms in the database, multiplies two probable primes of {@code bit} bits
 * {@code duration} times with a pause of {@code interval} ms after each, and writes for {@code updateTime} ms.
 * The connection is not held between the two. Parameters belong to their request.
 */
@WebServlet("/stress/*")
public class StressServlet extends HttpServlet {
    private static final long serialVersionUID = 1;
    private static final int ROWS = 1000;
    private static final int LONGEST = 600_000;

    private transient DataSource database;

    @Override
    public void init() throws ServletException {
        try {
            database = (DataSource) new InitialContext().lookup("jdbc/stress");
        } catch (NamingException e) {
            throw new ServletException(e);
        }
    }

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
        doGet(request, response);
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
        int search = number(request, "searchTime", 1, LONGEST);
        int update = number(request, "updateTime", 1, LONGEST);
        int interval = number(request, "interval", 1, LONGEST);
        int duration = number(request, "duration", 1, 1000);
        int bit = number(request, "bit", 1024, 8192);
        int row = ThreadLocalRandom.current().nextInt(ROWS);
        try {
            execute("SELECT sum(amount), pg_sleep(?) FROM item WHERE id BETWEEN ? AND 20 + ?", search, row, row);
            for (int i = 0; i < duration && bit > 1; i++) {
                BigInteger a = BigInteger.probablePrime(bit, ThreadLocalRandom.current());
                a.multiply(BigInteger.probablePrime(bit, ThreadLocalRandom.current()));
                Thread.sleep(interval);
            }
            execute("UPDATE item SET amount = amount + 1 WHERE id = ? AND pg_sleep(?) IS NOT NULL", row, update);
        } catch (SQLException e) {
            response.sendError(HttpServletResponse.SC_SERVICE_UNAVAILABLE, e.getMessage());
            return;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        response.setContentType("text/plain;charset=UTF-8");
        response.getWriter().printf("searchTime %d ms, updateTime %d ms, %d x %d bit%n", search, update, duration, bit);
    }

    /** The parameter in ms of pg_sleep is a number of seconds in SQL. */
    private void execute(String sql, int... values) throws SQLException {
        try (Connection connection = database.getConnection();
             PreparedStatement statement = connection.prepareStatement(sql)) {
            boolean sleepsFirst = sql.startsWith("SELECT");
            int sleep = sleepsFirst ? 0 : values.length - 1;
            for (int i = 0; i < values.length; i++) {
                if (i == sleep) {
                    statement.setDouble(i + 1, values[i] / 1000.0);
                } else {
                    statement.setInt(i + 1, values[i]);
                }
            }
            statement.execute();
        }
    }

    private static int number(HttpServletRequest request, String name, int usual, int most) {
        String text = request.getParameter(name);
        if (text == null) {
            return usual;
        }
        try {
            return Math.max(0, Math.min(most, Integer.parseInt(text.trim())));
        } catch (NumberFormatException e) {
            return usual;
        }
    }
}
